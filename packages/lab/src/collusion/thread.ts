import { parentPort } from "node:worker_threads";
import { performJobs } from "../parallel/in-threads.ts";
import { performMatch } from "./match.ts";

performJobs(parentPort, performMatch);
