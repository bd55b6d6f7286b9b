// Parses Google generateContent responses: whole documents and streams.
import type { FinishReason, JsonObject } from '../../core/index.ts';
import { asObject, asObjectArray } from '../fields.ts';
import { mergeCounts } from '../usage.ts';
import type { ParsedModelResponse, StreamAssembler } from '../wire-format.ts';
import { findGoogleFinish } from './finish-reasons.ts';
import { getFunctionCall, parseModelParts } from './parse-request.ts';
import { parseGoogleUsage } from './usage.ts';

/** Parses a response. */
export function parseGoogleResponse(response: JsonObject): ParsedModelResponse {
  const assembler = createGoogleAssembler();
  assembler.push({ data: response });
  return assembler.response();
}

/** Assembles a response from the events of its stream. */
export function createGoogleAssembler(): StreamAssembler {
  const parts: JsonObject[] = [];
  let finish: FinishReason | undefined;
  let usage: JsonObject = {};
  return {
    push({ data }) {
      if (data === '[DONE]') return { mustHold: false };
      usage = mergeCounts(usage, asObject(data['usageMetadata']));
      finish = findGoogleFinish(data)?.finish ?? finish;
      const added = getCandidateParts(data);
      for (const part of added) parts.push(part);
      return { mustHold: added.some(getFunctionCall) };
    },
    response() {
      const parsed = parseModelParts(parts);
      const hasCalls = parsed.some(({ type }) => type === 'tool-call');
      return {
        message: { role: 'assistant', parts: parsed },
        finish: hasCalls && finish === 'stop' ? 'tool-calls' : (finish ?? 'other'),
        usage: parseGoogleUsage(usage),
        raw: parts.filter((part) => part['text'] !== ''),
      };
    },
  };
}

/** The parts of the first candidate, and the calls of further ones: a client could run them. */
const getCandidateParts = (response: JsonObject): readonly JsonObject[] =>
  asObjectArray(response['candidates']).flatMap(({ content }, i) =>
    asObjectArray(asObject(content)['parts']).filter((part) => i === 0 || getFunctionCall(part)),
  );
