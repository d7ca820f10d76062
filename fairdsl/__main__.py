"""``python -m fairdsl`` is the command ``fairdsl``."""

from fairdsl.cli.app import main

if __name__ == "__main__":
    main()
