// The parts of an agent that decide in another program's loop: rules, gates and stops of the options, and placeholders for what the caller runs.
import { resolveAgent, mergeExtensions } from '../../agent/index.ts';
import type { Limits, ResolvedAgent } from '../../core/index.ts';
import type { CallerFlow } from '../caller-flow/caller-flow.ts';
import type { InterceptedRequest, InterceptorOptions } from './interceptor.ts';
import { createPlaceholderProvider, createPlaceholderTools } from './placeholders.ts';

/** Without limits of the caller, none apply. */
export const noLimits: Partial<Limits> = { turns: 1e9, errors: 1e9, stuckAfter: 0 };

/** Creates the parts for the model and the tools of a request. */
export function createInterceptorParts(
  options: InterceptorOptions,
  { model, tools, system, readOnlyTools = [] }: Omit<InterceptedRequest, 'messages'>,
  flow: CallerFlow | undefined,
): ResolvedAgent {
  const { rules, views, gates, stops, checks, reminders } = mergeExtensions([options]);
  const provider = createPlaceholderProvider(model, options);
  const ofCaller = createPlaceholderTools(tools, [...(options.readOnlyTools ?? []), ...readOnlyTools]);
  flow?.setTools(ofCaller);
  const all = flow ? [...gates, flow.gate] : gates;
  const parts = { rules, views, gates: all, stops, checks, reminders, provider, system };
  // The caller owns the history, so it is never compacted here.
  const { compactor: _, ...own } = resolveAgent(parts);
  // The caller's tools are not linted.
  return { ...own, tools: new Map(ofCaller.map((tool) => [tool.name, tool])) };
}
