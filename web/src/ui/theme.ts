import {
  ActionIcon,
  Button,
  Checkbox,
  createTheme,
  Drawer,
  defaultVariantColorsResolver,
  Input,
  type MantineColorsTuple,
  Menu,
  Modal,
  Radio,
  SegmentedControl,
  Tabs,
  Textarea,
  TextInput,
  Tooltip,
  type VariantColorsResolver,
} from '@mantine/core'

const stone: MantineColorsTuple = [
  '#FAFAF8',
  '#F3F2EE',
  '#E4E2DC',
  '#CFCCC5',
  '#949087',
  '#6A665E',
  '#57544D',
  '#1F1E1B',
  '#1B1A17',
  '#141311',
]

// Mantine computes contrast from the light shade only, which would make ink buttons white on white in dark mode.
const variantColorResolver: VariantColorsResolver = (input) => {
  const plain = defaultVariantColorsResolver(input)
  const red = input.color === 'red'
  switch (input.variant) {
    case 'filled':
      return {
        background: red ? 'var(--red-tx)' : 'var(--ink)',
        hover: red ? 'var(--red)' : 'var(--ink-hover)',
        color: red ? 'var(--on-red)' : 'var(--on-ink)',
        border: '1px solid transparent',
      }
    case 'subtle':
      return {
        background: 'transparent',
        hover: red ? 'var(--red-bg)' : 'var(--hover)',
        color: red ? 'var(--red-tx)' : 'var(--tx)',
        border: '1px solid transparent',
      }
    case 'default':
      return {
        background: 'var(--surface)',
        hover: 'var(--sunken)',
        color: 'var(--tx)',
        border: '1px solid var(--line2)',
      }
    default:
      return plain
  }
}

export const theme = createTheme({
  colors: { stone },
  primaryColor: 'stone',
  primaryShade: 7,
  fontFamily: '"Inter Variable", system-ui, sans-serif',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  defaultRadius: 6,
  cursorType: 'pointer',
  respectReducedMotion: true,
  variantColorResolver,
  components: {
    Button: Button.extend({
      defaultProps: { variant: 'default', size: 'sm' },
      classNames: { root: 'btn' },
      // Mantine writes its sizes into the element, where a style sheet can't override them.
      vars: (_, { size }) => ({
        root: {
          '--button-height': size === 'md' ? 'var(--control-big)' : 'var(--control)',
          '--button-padding-x': size === 'md' ? '16px' : '12px',
          '--button-fz': '13px',
        },
      }),
    }),
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', size: 30 } }),
    Input: Input.extend({
      classNames: { input: 'field' },
      vars: () => ({
        wrapper: { '--input-height': 'var(--field)', '--input-fz': 'var(--field-text)' },
        input: {},
      }),
    }),
    InputWrapper: Input.Wrapper.extend({
      classNames: { label: 'field-label', description: 'field-description', error: 'field-error' },
      defaultProps: { withAsterisk: false, inputWrapperOrder: ['label', 'description', 'input', 'error'] },
    }),
    TextInput: TextInput.extend({ defaultProps: { withAsterisk: false } }),
    Textarea: Textarea.extend({
      defaultProps: { withAsterisk: false, autosize: true, minRows: 2, maxRows: 14 },
    }),
    Checkbox: Checkbox.extend({ defaultProps: { iconColor: 'var(--on-ink)' } }),
    Radio: Radio.extend({ defaultProps: { iconColor: 'var(--on-ink)' } }),
    Modal: Modal.extend({
      defaultProps: {
        centered: true,
        padding: 20,
        radius: 8,
        overlayProps: { color: 'var(--scrim)', backgroundOpacity: 1 },
        closeButtonProps: { 'aria-label': 'Close' },
        transitionProps: { duration: 120 },
      },
      classNames: { content: 'dialog', header: 'dialog-head', title: 'dialog-title' },
    }),
    Drawer: Drawer.extend({
      defaultProps: {
        position: 'right',
        padding: 0,
        overlayProps: { color: 'var(--scrim)', backgroundOpacity: 1 },
        closeButtonProps: { 'aria-label': 'Close' },
        transitionProps: { duration: 120 },
      },
      classNames: { content: 'drawer', header: 'drawer-head', title: 'dialog-title', body: 'drawer-body' },
    }),
    Menu: Menu.extend({
      defaultProps: {
        position: 'bottom-end',
        shadow: 'none',
        transitionProps: { duration: 80 },
        // The focus placeholder is not a menu item, and outside `main` the menu would be outside every landmark.
        withInitialFocusPlaceholder: false,
        portalProps: { target: '#main' },
      },
      classNames: { dropdown: 'floating', item: 'menu-item' },
    }),
    Tooltip: Tooltip.extend({
      defaultProps: { openDelay: 350, color: 'var(--ink)' },
      classNames: { tooltip: 'tip' },
    }),
    Tabs: Tabs.extend({ classNames: { tab: 'tab', list: 'tab-list' } }),
    SegmentedControl: SegmentedControl.extend({
      defaultProps: { size: 'xs', withItemsBorders: false, transitionDuration: 0 },
      classNames: { root: 'segments', label: 'segment', indicator: 'segment-mark' },
    }),
  },
})
