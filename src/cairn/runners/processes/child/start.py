"""The file that is run: everything else is imported, so that it need not be compiled each time."""

import sys

if __name__ == "__main__":
    here = __file__.rpartition("/")[0].rpartition("/")[0]
    sys.path.insert(0, here)
    from child.main import main  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

    sys.path.remove(here)
    main()
