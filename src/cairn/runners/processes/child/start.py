"""The entry point of a script process. It only imports other modules, because these are compiled once and cached."""

import sys

if __name__ == "__main__":
    parent = __file__.rpartition("/")[0].rpartition("/")[0]
    sys.path.insert(0, parent)
    from child.main import main  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

    sys.path.remove(parent)
    main()
