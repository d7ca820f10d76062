"""The command ``fairdsl``, which is also ``python -m fairdsl``."""

import signal


def main() -> None:
    """Import the command and begin it.

    Ctrl-C and SIGTERM wait until somebody listens. Where they come in the middle of a class, Python makes another kind
    of exception of them, and its exit code would be that of a violation.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    from fairdsl.cli.app import main as begin

    begin(mask)


if __name__ == "__main__":
    main()
