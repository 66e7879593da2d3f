/** The address of the service: where this page came from, without a slash at its end. */
export const SERVER: string = new URL(".", location.href).href.replace(/\/$/, "");
