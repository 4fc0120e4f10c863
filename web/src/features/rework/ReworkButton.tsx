import { Button } from '@mantine/core'
import { IconArrowBackUp } from '@tabler/icons-react'
import styles from './Rework.module.css'

/** Opens the rework dialog. */
export function ReworkButton({ onClick }: { onClick: () => void }) {
  return (
    <p className={styles.action}>
      <Button leftSection={<IconArrowBackUp size={16} />} onClick={onClick}>
        Request rework…
      </Button>
      <span>Have an earlier checkpoint redone with new instructions.</span>
    </p>
  )
}
