/**
 * The language in which messages are described: a field is one value that can read what is in a message, name the
 * mistake in it, and describe itself in JSON Schema. The descriptions themselves are elsewhere: those of metrics in
 * each folder below `statistic`, those of tasks, manifests and releases in `message`. This folder may import files
 * directly below `src` only. Start reading at `field.ts`.
 */
export {
  boolean,
  count,
  described,
  type Field,
  type Fields,
  field,
  finite,
  type JsonObject,
  type JsonSchema,
  label,
  list,
  name,
  nullable,
  number,
  object,
  oneOf,
  optional,
  type Read,
  readFields,
  readMessage,
  record,
  refuseUnknown,
  requireObject,
  schemaOfFields,
  share,
  stricter,
  text,
  token,
  type UnknownField,
  union,
  upTo,
  url,
  whole,
} from "./field.ts";
export { quote, shorten } from "./quote.ts";
