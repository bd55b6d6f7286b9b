// The settings of sub-agents: how many a session may start, for how much money, and from when on the user is asked.
import { defaultSubagentCaps, type SubagentCaps } from '../../core/index.ts';
import { numberParser, positiveNumberParser } from './parsers.ts';
import type { SettingEntry } from './schema.ts';
import type { Settings } from './settings.ts';

const maxThreshold = 100_000;

/** The settings `agents.*` by their key. */
export const agentEntries: Readonly<Record<string, SettingEntry>> = {
  'agents.max': {
    project: 'never',
    description: 'maximum number of sub-agents that a session may start; 20 by default',
    parse: positiveNumberParser(true),
  },
  'agents.parallel': {
    project: 'never',
    description: 'maximum number of sub-agents that run at the same time; 4 by default',
    parse: positiveNumberParser(true),
  },
  'agents.usd': {
    project: 'never',
    description: 'maximum cost of all sub-agents of a session in dollars; 10 by default',
    parse: positiveNumberParser(false),
  },
  'agents.askAfter': {
    project: 'never',
    description:
      'ask after each so many sub-agents, also if calls are approved automatically; 5 by default, 0 for never',
    parse: numberParser(0, maxThreshold),
  },
  'agents.askUsd': {
    project: 'never',
    description:
      'ask when the estimated cost of sub-agents passes a multiple of so many dollars, also if calls are approved automatically; 5 by default, 0 for never',
    parse: numberParser(0, maxThreshold),
  },
};

/** The caps for the sub-agents of a session. */
export function readSubagentCaps({ all }: Pick<Settings, 'all'>): SubagentCaps {
  const read = (key: string, fallback: number): number => {
    const value = all.get(key)?.value;
    return typeof value === 'number' ? value : fallback;
  };
  const { agents, parallel, usd, askAfter, askUsd } = defaultSubagentCaps;
  return {
    agents: read('agents.max', agents),
    parallel: read('agents.parallel', parallel),
    usd: read('agents.usd', usd),
    askAfter: Math.floor(read('agents.askAfter', askAfter)),
    askUsd: read('agents.askUsd', askUsd),
  };
}
