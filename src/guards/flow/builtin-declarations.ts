// What the built-in tools do, for the flow policy: their effects, the roles of their parameters, and what their output is.
import type { FlowDeclarations, ToolDeclaration } from './types.ts';

/** The result is a sentence of the program. Its diff has lines of files, which are not trusted. */
const file = { effect: 'write', output: 'none' } as const;
/** Text of files, programs and networks. */
const outside = { effect: 'read', output: 'untrusted' } as const;

const tools: Readonly<Record<string, ToolDeclaration>> = {
  read_file: { ...outside, inputs: { path: 'path', offset: 'flag', limit: 'flag' } },
  list_files: { ...outside, inputs: { path: 'path' } },
  glob: { ...outside, inputs: { pattern: 'query', path: 'path' } },
  grep: { ...outside, inputs: { pattern: 'query', path: 'path', glob: 'query', ignore_case: 'flag' } },
  code_intelligence: {
    ...outside,
    inputs: { action: 'flag', path: 'path', line: 'flag', column: 'flag', symbol: 'query', new_name: 'query' },
  },
  search_documents: { ...outside, inputs: { query: 'query', limit: 'flag' } },
  git: {
    ...outside,
    inputs: { operation: 'flag', revision: 'query', staged: 'flag', path: 'path', limit: 'flag' },
  },
  write_file: { ...file, action: 'file-write', inputs: { path: 'path', content: 'body' } },
  edit_file: {
    ...file,
    action: 'file-write',
    inputs: { path: 'path', old_string: 'body', new_string: 'body', replace_all: 'flag' },
  },
  apply_patch: { ...file, action: 'file-write', inputs: { paths: 'path', patch: 'body' } },
  edit_notebook: {
    ...file,
    action: 'file-write',
    inputs: { path: 'path', cell: 'flag', source: 'body', type: 'flag', mode: 'flag' },
  },
  delete_file: { ...file, action: 'delete', inputs: { path: 'path', restore: 'flag' } },
  git_change: {
    ...file,
    action: 'commit',
    inputs: { operation: 'flag', message: 'body', paths: 'path', name: 'flag', from: 'flag' },
    output: 'untrusted',
  },
  git_remote: {
    effect: 'external',
    action: 'git-remote',
    inputs: { operation: 'flag', url: 'url', path: 'path', remote: 'flag', branch: 'flag', depth: 'flag' },
    output: 'untrusted',
  },
  // A command runs in a sandbox, or the user approves it; hosts in it decide where data goes.
  run_command: {
    effect: 'write',
    action: 'run',
    inputs: { command: 'command', timeout_s: 'flag', background: 'flag' },
    output: 'untrusted',
  },
  execute_sandboxed_command: {
    effect: 'write',
    action: 'run',
    inputs: { command: 'body', timeout_s: 'flag' },
    output: 'untrusted',
  },
  run_code: { ...outside, inputs: { code: 'body', timeout_s: 'flag' } },
  command_output: { ...outside, inputs: { id: 'flag', wait_s: 'flag', until: 'query' } },
  stop_command: { ...file, action: 'stop', inputs: { id: 'flag' } },
  // It sends no cookies and no keys: a link that is copied as it stands carries nothing out.
  web_fetch: { effect: 'write', action: 'visit', inputs: { url: 'link', offset: 'flag' }, output: 'untrusted' },
  web_search: { effect: 'write', action: 'visit', inputs: { query: 'query', count: 'flag' }, output: 'untrusted' },
  http_request: {
    effect: 'external',
    action: 'request',
    inputs: { url: 'url', method: 'flag', headers: 'body', body: 'body', auth: 'flag' },
    output: 'untrusted',
  },
  // It asks the user itself, each time.
  oauth_login: {
    effect: 'write',
    action: 'login',
    inputs: { name: 'flag', api: 'url', issuer: 'url', client_id: 'flag', scope: 'flag' },
    output: 'untrusted',
  },
  // The gates of a sub-agent decide about its own calls.
  spawn_agent: {
    ...outside,
    inputs: {
      task: 'body',
      agent: 'flag',
      role: 'body',
      tools: 'flag',
      model: 'flag',
      max_turns: 'flag',
      background: 'flag',
      read: 'path',
      schema: 'body',
      reviews: 'flag',
    },
  },
  read_quarantined: { ...outside, inputs: { from: 'path', question: 'body', schema: 'body', offset: 'flag' } },
  manage_agents: { ...outside, inputs: { action: 'flag', agent: 'flag', message: 'body', reviews: 'flag' } },
  ask_user: { effect: 'read', inputs: { question: 'body', choices: 'body' }, output: 'user' },
  todo: { effect: 'read', inputs: { items: 'body' }, output: 'untrusted' },
  canvas_render: {
    ...outside,
    inputs: {
      kind: 'flag',
      title: 'body',
      columns: 'body',
      rows: 'body',
      points: 'body',
      tree: 'body',
      width: 'flag',
    },
  },
  load_skill: { ...outside, inputs: { name: 'query' } },
  load_tools: { effect: 'read', inputs: { names: 'query', query: 'query' }, output: 'untrusted' },
  // The call inside it is decided about; this is for one that names no tool, and that never runs.
  use_tool: { effect: 'external', inputs: { tool: 'id', input: 'body' }, output: 'untrusted' },
  search_tools: { effect: 'read', inputs: { query: 'query' }, output: 'untrusted' },
  handle_list: { ...outside, inputs: { from: 'flag', count: 'flag' } },
  handle_read: { ...outside, inputs: { name: 'query', path: 'query', from: 'flag', count: 'flag' } },
  list_mcp_servers: { ...outside, inputs: {} },
  list_mcp_resources: { ...outside, inputs: { server: 'query', cursor: 'flag' } },
  read_mcp_resource: { ...outside, inputs: { server: 'query', uri: 'query' } },
};

/** The words by which users ask for an action, in several languages. */
const actionWords: Readonly<Record<string, string>> = {
  message:
    'e-?mail|mail|send|sent|notif|inform|tell|forward|reply|respond|answer|messag|let \\w+ know|share|contact|remind|invit|post|comment|publish|announce|schreib|antwort|sende|schick|teile|envoi|répon|écri|enví|respond|escrib',
  pay: 'pay|charg|transfer|wire|remit|reimburs|settle|send money|donat|payment|invoice|bill|rent|überweis|bezahl|zahl|virement|paie|transfier|paga',
  buy: 'buy|purchas|order|shop|check ?out|book|reserv|kauf|bestell|buch|achet|command|réserv|compra|pide|reserva',
  delete:
    'delet|remov|drop|destroy|purg|wip|eras|clean|clear|archiv|close|cancel|get rid|lösch|entfern|supprim|efface|borra|elimin',
  create:
    'creat|add|new|insert|make|register|schedul|append|set up|open|write|erstell|anleg|hinzufüg|crée|ajout|crea|añad|agreg',
  change:
    'updat|edit|modif|set|chang|renam|mov|patch|replac|assign|merg|fix|correct|adjust|änder|aktualisier|verschieb|modifi|chang|actualiz|cambi',
  upload: 'upload|push|sync|import|deploy|releas|publish|put|hochlad|téléverse|subir|sube',
  run: 'run|execut|start|trigger|invoke|call|launch|führ|starte|lance|ejecut',
  visit:
    'visit|brows|open|web|link|url|site|page|click|online|look up|search|internet|www|http|besuch|öffne|seite|suche|ouvr|cherch|visit|abr|busca',
  request:
    'api|endpoint|request|http|post|put|patch|call|curl|webhook|submit|send|upload|fetch|query|anfrage|sende|envoi|appel|enví|llama',
  login: 'log ?in|sign ?in|connect|authori[sz]|anmeld|einlogg|connexion|iniciar sesi',
  'git-remote': 'push|pull|clone|fetch|publish|remote|pull request|\\bpr\\b|release|hochlad|pousse|sube',
};

/** The declarations of the built-in tools. */
export const builtinDeclarations: FlowDeclarations = {
  tools: new Map(Object.entries(tools)),
  actions: new Map(
    Object.entries(actionWords).map(([name, words]) => [name, new RegExp(`(?<![\\p{L}\\p{N}_])(?:${words})`, 'iu')]),
  ),
};

/** Merges declarations; later ones replace earlier ones of the same tool or action. */
export const mergeDeclarations = (...all: readonly FlowDeclarations[]): FlowDeclarations => ({
  tools: new Map(all.flatMap(({ tools: each }) => [...each])),
  actions: new Map(all.flatMap(({ actions }) => [...actions])),
});
