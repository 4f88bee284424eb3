"""``python -m lossep`` is the command."""

from lossep._binary import main

main()
