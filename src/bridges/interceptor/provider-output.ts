// Finds what tools of the provider returned inside a response: text of third parties that the model has read, and that no tool result of the caller has.
import { isObject, type Fact, type Json } from '../../core/index.ts';
import { untrustedFact } from './import-messages.ts';
import type { InterceptedResponse } from './interceptor.ts';

/** Items of a response that the model itself wrote, or that the caller answers. */
const ownTypes: ReadonlySet<string> = new Set([
  'text',
  'output_text',
  'message',
  'reasoning',
  'thinking',
  'redacted_thinking',
  'refusal',
  'tool_use',
  'tool-call',
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'computer_call',
  'mcp_approval_request',
]);
/** Parts of Gemini without a type that the model itself did not write. */
const foreignKeys = ['codeExecutionResult', 'code_execution_result', 'executableCode', 'executable_code'];
const maxChars = 1_000_000;

/** Returns the facts of text that the provider's tools brought in. */
export function providerOutputFacts({ raw }: Pick<InterceptedResponse, 'raw'>): readonly Fact[] {
  if (!Array.isArray(raw)) return [];
  const foreign = (raw as readonly Json[]).filter((item) => {
    if (!isObject(item)) return false;
    const { type, providerExecuted } = item;
    if (providerExecuted === true) return true;
    return typeof type === 'string' ? !ownTypes.has(type) : foreignKeys.some((key) => key in item);
  });
  return foreign.length === 0
    ? []
    : [untrustedFact(JSON.stringify(foreign).slice(0, maxChars), 'a tool of the provider')];
}
