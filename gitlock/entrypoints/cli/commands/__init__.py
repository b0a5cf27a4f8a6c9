"""One file a command: its options, and how it is answered."""
