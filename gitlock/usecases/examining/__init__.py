"""What ``git lock doctor`` looks at: one module a subject, each a function from what is there to findings."""
