"""The file that is run for a piece of code that an agent has written."""

import sys

if __name__ == "__main__":
    here = __file__.rpartition("/")[0].rpartition("/")[0]
    sys.path.insert(0, here)
    from child.snippet import main  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

    sys.path.remove(here)
    main()
