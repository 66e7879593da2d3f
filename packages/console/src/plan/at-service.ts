/**
 * What the view asks of a service. It reads manifests, for which all statistics are loaded with their encryption, so this
 * file is loaded when somebody asks.
 */
export { createTask, fetchManifest } from "@lethe/analyst";
