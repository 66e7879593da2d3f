import type { FastifyInstance } from "fastify";

const IDLE_MILLISECONDS = 50;
const CLOSING_MILLISECONDS = 5000;

/** Closes the HTTP server. Requests under way are answered; connections that send nothing are closed. */
export async function closeHttp(app: FastifyInstance): Promise<void> {
  const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_MILLISECONDS);
  const impatient = setTimeout(() => app.server.closeAllConnections(), CLOSING_MILLISECONDS);
  await app.close();
  clearInterval(idle);
  clearTimeout(impatient);
}
