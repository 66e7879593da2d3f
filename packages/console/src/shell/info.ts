/** What the service says about itself. Loaded later than the frame of the page, which is painted first. */
export { fetchServiceInfo } from "@lethe/analyst";
