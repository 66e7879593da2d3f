import { parentPort } from "node:worker_threads";
import { performJobs } from "../in-threads.ts";
import { performMatch } from "./match.ts";

performJobs(parentPort, performMatch);
