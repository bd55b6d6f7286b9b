// The options of `fairlead trace` that shells suggest.
import { createFlag, jsonFlag, type CompletionFlag } from './completion-flag.ts';
import { storeFlag } from './fleet-flags.ts';

/** The options of `trace` and `trace export`. */
export const traceFlags: readonly CompletionFlag[] = [
  createFlag('cache', 'the cache ledger'),
  jsonFlag,
  createFlag('fleet', 'a session of a queued run'),
  storeFlag,
  createFlag('endpoint', 'the receiver, a URL', 'anything'),
  createFlag('protocol', 'http/json or http/protobuf', 'anything'),
  createFlag('file', 'write OTLP JSON to a file', 'files'),
  createFlag('content', 'texts too, without secrets'),
];
