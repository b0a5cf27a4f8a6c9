"""Git's hooks. They run before every commit, so they import little and start git before they import the rest."""
