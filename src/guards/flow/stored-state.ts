// Serializes the state of the flow policy for baselines and sub-agents: compressed, because it holds every text of third parties.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { isObject, type Json } from '../../core/index.ts';
import { FlowState, type FlowEntry, type FlowStateOptions } from './flow-state.ts';

const maxRestoredBytes = 200_000_000;
const version = 1;

/** Serializes a state. */
export const serializeFlowState = (state: FlowState): Json => ({
  version,
  entries: deflateRawSync(JSON.stringify(state.entries)).toString('base64'),
});

/** Restores a state; undefined if what was stored is not valid. */
export function restoreFlowState(stored: Json | undefined, options: FlowStateOptions): FlowState | undefined {
  if (!isObject(stored) || stored['version'] !== version || typeof stored['entries'] !== 'string') return undefined;
  try {
    const bytes = inflateRawSync(Buffer.from(stored['entries'], 'base64'), { maxOutputLength: maxRestoredBytes });
    const entries: unknown = JSON.parse(bytes.toString());
    return Array.isArray(entries) && entries.every(isEntry) ? FlowState.create(options, entries) : undefined;
  } catch {
    return undefined;
  }
}

function isEntry(value: unknown): value is FlowEntry {
  if (!isObject(value)) return false;
  switch (value['type']) {
    case 'user':
    case 'trusted':
      return typeof value['text'] === 'string';
    case 'untrusted':
      return typeof value['text'] === 'string' && isObject(value['source']);
    case 'records':
      return Array.isArray(value['records']);
    case 'private':
      return isObject(value['source']);
    case 'approved':
    case 'refused':
      return typeof value['call'] === 'string' && Array.isArray(value['values']);
    case 'effect':
      return typeof value['isAllowed'] === 'boolean';
    default:
      return false;
  }
}
