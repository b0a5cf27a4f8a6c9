"""The MCP server: the same answers as the command line's, as tools and resources of the Model Context Protocol."""
