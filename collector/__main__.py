"""``python -m collector`` is the ``deniable`` command."""

from .cli import main

if __name__ == "__main__":
    main()
