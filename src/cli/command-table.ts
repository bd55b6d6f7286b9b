// The table of commands: a name, a line for the help, and a lazy import, so that starting one command loads no other.
import type { Command, CommandTable } from './args/command.ts';

const loadConversationCommand = async (as: 'chat' | 'run'): Promise<Command> => {
  const { runConversationCommand } = await import('./commands/conversation.ts');
  return { run: (args) => runConversationCommand(args, as) };
};

/** The commands this program has. */
export const commands: CommandTable = {
  chat: { summary: 'open the prompt', load: () => loadConversationCommand('chat') },
  run: { summary: 'answer once and exit', load: () => loadConversationCommand('run') },
  sessions: {
    summary: 'list, show, rename, clone, export, verify and delete sessions',
    load: () => import('./commands/sessions/command.ts'),
  },
  models: {
    summary: 'list models, show how one is chosen, and what that saves',
    load: () => import('./commands/models/command.ts'),
  },
  config: { summary: 'show and change settings', load: () => import('./commands/config.ts') },
  doctor: { summary: 'prove that each part works, and say how to mend it', load: () => import('./commands/doctor.ts') },
  policy: { summary: 'check a policy, and try it on a past session', load: () => import('./commands/policy.ts') },
  rules: { summary: 'list, test, backtest and measure rules', load: () => import('./commands/rules/command.ts') },
  eval: { summary: 'ask a model a set of questions, and score its answers', load: () => import('./commands/eval.ts') },
  why: { summary: 'why the model saw what it saw in a turn', load: () => import('./commands/why.ts') },
  demo: { summary: 'a tour of two minutes, without a model', load: () => import('./commands/demo/command.ts') },
  acp: { summary: 'let an editor drive sessions (Agent Client Protocol)', load: () => import('./commands/acp.ts') },
  mcp: {
    summary: 'use MCP servers, or offer tools and an agent as one',
    load: () => import('./commands/mcp/command.ts'),
  },
  proxy: {
    summary: 'guide agents in any language, in front of their model',
    load: () => import('./commands/proxy/command.ts'),
  },
  worker: { summary: 'work on queued runs', load: () => import('./commands/fleet/worker-command.ts') },
  enqueue: {
    summary: 'queue runs for workers, now or by the clock',
    load: () => import('./commands/fleet/enqueue-command.ts'),
  },
  serve: { summary: 'serve the page and the API of a fleet', load: () => import('./commands/serve.ts') },
  factory: {
    summary: 'work through a batch of tasks with workers of its own',
    load: () => import('./commands/fleet/factory-command.ts'),
  },
  runs: {
    summary: 'list, show, answer, steer and cancel queued runs',
    load: () => import('./commands/fleet/runs-command.ts'),
  },
  fleet: {
    summary: 'the kill-switch, budgets, schedules and how it all stands',
    load: () => import('./commands/fleet/fleet-command.ts'),
  },
  completions: {
    summary: 'print a script that lets a shell complete',
    load: () => import('./commands/completions/command.ts'),
  },
};
