"""Settings of agent programs: our entries in them, looked for, put in, and taken out."""
