// The table of commands: a name, a line for the help, and a lazy import, so that a command loads only its own code.
import type { Command, CommandTable } from './args/command.ts';

const loadConversationCommand = async (command: 'chat' | 'run'): Promise<Command> => {
  const { runConversationCommand } = await import('./commands/conversation.ts');
  return { run: (args) => runConversationCommand(args, command) };
};

/** The commands of the program. */
export const commands: CommandTable = {
  chat: { summary: 'open the prompt', load: () => loadConversationCommand('chat') },
  run: { summary: 'answer once and exit', load: () => loadConversationCommand('run') },
  sessions: {
    summary: 'list, search, show, rename, clone, export, verify and delete sessions',
    load: () => import('./commands/sessions/command.ts'),
  },
  index: { summary: 'index a folder for search', load: () => import('./commands/documents/index-command.ts') },
  search: {
    summary: 'search an indexed folder, and answer from it',
    load: () => import('./commands/documents/search-command.ts'),
  },
  models: {
    summary: 'list models, explain routing, and show the savings',
    load: () => import('./commands/models/command.ts'),
  },
  login: { summary: 'enter a key of a provider; it is verified and stored', load: () => import('./commands/login.ts') },
  logout: { summary: 'remove the stored key of a provider', load: () => import('./commands/logout.ts') },
  config: { summary: 'show and change settings', load: () => import('./commands/config.ts') },
  trust: {
    summary: 'use the settings and changed instructions of this project, after a look at them',
    load: () => import('./commands/trust.ts'),
  },
  doctor: { summary: 'check the installation and suggest fixes', load: () => import('./commands/doctor.ts') },
  permissions: {
    summary: 'list and revoke what you allowed in this project',
    load: () => import('./commands/permissions.ts'),
  },
  policy: {
    summary: 'check a policy, simulate it on a past session, and declare tools',
    load: () => import('./commands/policy.ts'),
  },
  rules: { summary: 'list, test, backtest and measure rules', load: () => import('./commands/rules/command.ts') },
  evals: {
    summary: 'run datasets against models, compare reports, and turn sessions into cases',
    load: () => import('./commands/evals/command.ts'),
  },
  eval: { summary: 'the same as evals', load: () => import('./commands/evals/command.ts') },
  scorecard: {
    summary: 'show and measure the claims of the product on this machine',
    load: () => import('./commands/scorecard/command.ts'),
  },
  verify: {
    summary: 'calibrate the confidence of answers, and list calibrations',
    load: () => import('./commands/verify/command.ts'),
  },
  'verify-claims': {
    summary: 'verify each claim of an answer, and strike out what is not supported',
    load: () => import('./commands/verify/verify-claims.ts'),
  },
  'verify-full': {
    summary: 'answer with evidence and verification by other models, or not at all',
    load: () => import('./commands/verify/verify-full.ts'),
  },
  redteam: {
    summary: 'measure which attacks by untrusted text are stopped, and which work is kept',
    load: () => import('./commands/redteam/command.ts'),
  },
  dlp: {
    summary: 'find personal data and secrets in files',
    load: () => import('./commands/dlp/command.ts'),
  },
  why: { summary: "explain what was in the model's context for a turn", load: () => import('./commands/why.ts') },
  trace: {
    summary: 'show the trace and the cache ledger of a session, or export the trace',
    load: () => import('./commands/trace/command.ts'),
  },
  replay: {
    summary: 'replay a session, whole or from a turn on, and show what differs',
    load: () => import('./commands/replay.ts'),
  },
  demo: { summary: '2-minute demo (no model needed)', load: () => import('./commands/demo/command.ts') },
  acp: { summary: 'run as an agent in an editor (Agent Client Protocol)', load: () => import('./commands/acp.ts') },
  mcp: {
    summary: 'manage MCP servers, or run as an MCP server',
    load: () => import('./commands/mcp/command.ts'),
  },
  proxy: {
    summary: 'apply rules to agents in any language, as a proxy of their model',
    load: () => import('./commands/proxy/command.ts'),
  },
  worker: { summary: 'execute queued runs', load: () => import('./commands/fleet/worker-command.ts') },
  enqueue: {
    summary: 'queue runs, now or on a schedule',
    load: () => import('./commands/fleet/enqueue-command.ts'),
  },
  serve: { summary: 'serve the dashboard and the HTTP API of a fleet', load: () => import('./commands/serve.ts') },
  factory: {
    summary: 'run a batch of tasks with its own workers',
    load: () => import('./commands/fleet/factory-command.ts'),
  },
  multi: {
    summary: 'plan a question as steps, run them in parallel, and combine the results',
    load: () => import('./commands/fleet/multi-command.ts'),
  },
  runs: {
    summary: 'list, show, answer, steer and cancel queued runs',
    load: () => import('./commands/fleet/runs-command.ts'),
  },
  fleet: {
    summary: 'fleet status, kill switch, budgets and schedules',
    load: () => import('./commands/fleet/fleet-command.ts'),
  },
  release: {
    summary: 'create, compare, promote and roll back releases of an agent',
    load: () => import('./commands/release/command.ts'),
  },
  worktree: {
    summary: 'list, show, merge and discard the worktrees of agents and runs',
    load: () => import('./commands/worktree/command.ts'),
  },
  audit: {
    summary: 'export approvals, denials, runs and releases of a period',
    load: () => import('./commands/audit.ts'),
  },
  completions: {
    summary: 'print a shell completion script',
    load: () => import('./commands/completions/command.ts'),
  },
};
