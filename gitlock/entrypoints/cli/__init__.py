"""The command line. The verbs that agents repeat are read by a lean parser; click is loaded for help and mistakes."""
