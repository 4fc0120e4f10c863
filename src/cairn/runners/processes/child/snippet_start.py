"""The entry point of a process that runs an agent's code."""

import sys

if __name__ == "__main__":
    parent = __file__.rpartition("/")[0].rpartition("/")[0]
    sys.path.insert(0, parent)
    from child.snippet import main  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

    sys.path.remove(parent)
    main()
