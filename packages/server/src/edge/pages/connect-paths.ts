/** Where browsers come back to from authorization servers of MCP servers: registered there, and the same for all of them. */
export const COME_BACK = '/connect/callback';

/** Describes us to authorization servers that read such documents; its address is our id there. */
export const OWN_DOCUMENT = '/connect/client.json';
