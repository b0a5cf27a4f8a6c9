"""What runs at each event of an agent program: ``git lock agent-hook``. One module per program says how it speaks."""
