/**
 * The console: a page that shows what a service released, what that cost in privacy, how the service is, and what a
 * device stores. `shell` has the frame around the views, `chart` and `format` what they draw and print with; every other
 * folder is one view, which is loaded when it is opened, or `planner`, which computes plans in a worker, or `price`, which
 * says what they cost, or `demonstration`, which knows what really happened. Views import those, never each other.
 * All data comes through `@lethe/analyst`; core plans and prices; the SDK and the lab's distinguishers run in the view
 * `device`.
 */
import { render } from "preact";
import { App } from "./shell/app.tsx";
import { VIEWS } from "./views.ts";

const place = document.getElementById("app");
if (place) {
  place.textContent = "";
  render(<App views={VIEWS} />, place);
}
