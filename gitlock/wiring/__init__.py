"""The composition root: the only reader of environment variables, and where a repository and its store are opened."""
