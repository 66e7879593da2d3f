/** The file beside the database where an operator on the same machine finds the admin token. */
export const ADMIN_TOKEN_FILE = "admin-token";
