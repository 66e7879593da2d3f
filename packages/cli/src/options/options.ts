/**
 * What several commands take in: options and their parsers, the admin token, the task file. It may import `system`, and
 * nothing else of the command. Parsers refuse a wrong value with one sentence, which commander prints after the option.
 */
import { LetheError } from "@lethe/core/error";
import { decodeOperatorKey } from "@lethe/core/message";
import { InvalidArgumentError, Option } from "commander";
import { DEFAULT_DATA } from "./admin-token.ts";

/** The address of a service that was started without --host and --port. */
export const DEFAULT_SERVER = "http://127.0.0.1:8080";

/** --server: the service that a command sends requests to. */
export function serverOption(): Option {
  return new Option("--server <url>", "the address of the service")
    .env("LETHE_SERVER")
    .default(DEFAULT_SERVER)
    .argParser(serviceUrl);
}

/** --last: many windows instead of one. */
export function lastOption(): Option {
  const text = "draw every figure over the last n windows, up to the newest finished one, with intervals";
  return new Option("--last <n>", text).argParser(wholeNumber(1, 1000));
}

/** --data: where a service without PostgreSQL stores what devices sent. */
export function dataOption(): Option {
  return new Option("--data <folder>", "the folder of the embedded database, which is used unless DATABASE_URL is set")
    .env("LETHE_DATA")
    .default(DEFAULT_DATA);
}

/** --key-file: where a service stores its secrets. */
export function keyFileOption(): Option {
  return new Option(
    "--key-file <file>",
    "the file for all secrets, outside the data folder (default: <data>.keys)",
  ).env("LETHE_KEY_FILE");
}

/** Parses an operator key, and returns it as it is. */
export function operatorKey(text: string): string {
  try {
    decodeOperatorKey(text);
    return text;
  } catch (error) {
    if (!(error instanceof LetheError)) throw error;
    throw new InvalidArgumentError("It must be an operator key, like ed25519:…, as npx lethe key prints it.");
  }
}

/** Parses the address of a service, and returns it without a slash at its end. */
export function serviceUrl(text: string): string {
  const isUrl = /^https?:\/\/[\x21-\x7e]{1,2000}$/.test(text) && URL.canParse(text) && !/[?#]/.test(text);
  if (!isUrl) throw new InvalidArgumentError("It must be an http or https address.");
  return text.replace(/\/+$/, "");
}

/** Parses the number of a window. */
export function windowNumber(text: string): number {
  if (!/^(0|[1-9]\d{0,14})$/.test(text)) throw new InvalidArgumentError("It must be the number of a window.");
  return Number(text);
}

/** A parser of integers in a range. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+(e\d)?$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    }
    return value;
  };
}

/** Parses a number above 0. */
export function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw new InvalidArgumentError("It must be a number above 0.");
  return value;
}

/** Returns a parser of numbers above 0 that are at most this. */
export function positiveUpTo(most: number): (text: string) => number {
  return (text) => {
    const value = positive(text);
    if (value > most) throw new InvalidArgumentError(`It must be at most ${most}.`);
    return value;
  };
}

/** Parses a share, from 0 to 1. */
export function share(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError("It must be a number from 0 to 1.");
  return value;
}

/** Parses the edges of a histogram. */
export function edges(text: string): number[] {
  if (!/^\d{1,6}(,\d{1,6})+$/.test(text)) throw new InvalidArgumentError("It must be a list like 0,1,2,5.");
  return text.split(",").map(Number);
}

/** Parses a share, from 0 to below 1. */
export function shareBelowOne(text: string): number {
  const value = share(text);
  if (value === 1) throw new InvalidArgumentError("It must be a number from 0 to below 1.");
  return value;
}

/** Parses a δ. */
export function probability(text: string): number {
  const value = Number(text);
  if (!(value >= 1e-15 && value < 1)) throw new InvalidArgumentError("It must be a number from 1e-15 to below 1.");
  return value;
}
