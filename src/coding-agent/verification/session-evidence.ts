// The evidence of a session: what its reading tools returned. What the model could choose, such as the output of a command, is marked; text of other models is left out.
import path from 'node:path';
import { splitAnswer, type Evidence } from '../../checks/index.ts';
import { isObject, messageToolCalls, unwrapDeferredCall, type Event, type Json } from '../../core/index.ts';
import { carriesText, isOwnHost } from './fetched-address.ts';

/** The latest results that are read. */
const maxResults = 300;
const maxResultLength = 200_000;
/** A sentence with fewer words may be repeated by chance. */
const minSentenceWords = 4;

/** Tools that return text of files. It is evidence as long as the session cannot have written it. */
const fileReaders = toSet('read_file list_files glob grep search_documents code_intelligence git');
/** Tools that return text of others. It is evidence unless the address carries it. */
const webReaders = toSet('web_fetch web_search read_mcp_resource');
/** Tools whose results are text of models. */
const modelTools = toSet('spawn_agent manage_agents read_quarantined');
/** Tools that change the files that they name, and no others. */
const fileWriters = toSet('write_file edit_file delete_file apply_patch edit_notebook');
/** Other tools that change no file. */
const otherTools = toSet(
  'run_code todo ask_user load_skill search_tools load_tools handle_list handle_read list_mcp_servers list_mcp_resources canvas_render command_output',
);
const commandTools = toSet('run_command execute_sandboxed_command bash shell');

/** A command that only prints: it has no redirection, no second command and no option that writes or runs something. */
const printingCommand =
  /^(?:cat|head|tail|ls|wc|pwd|grep|nl|echo|printf|date|uname|whoami|which|git (?:status|log|diff|show|blame))(?: [\w ./:@%+=,^*'"-]*)?$/;
const writingOption = /--(?:output|ext|text)/;

function toSet(names: string): ReadonlySet<string> {
  return new Set(names.split(' '));
}

/** What the collection of evidence may look up. */
export type SessionEvidenceOptions = {
  /** Whether a file has had this content (its sha256) since before a time; absent: not known. */
  readonly isOlder?: (file: string, hash: string, time: Date) => boolean;
};

type Call = { readonly tool: string; readonly input: Json };

/** What the session may have written so far. */
type Written = {
  /** The words of the calls of the model. */
  text: string;
  /** The names of the files that it wrote. */
  readonly files: Set<string>;
  /** A command or an unknown tool may have written any file. */
  isOpen: boolean;
  /** The first event; absent if the log begins with the history of another session. */
  start?: Date;
};

/** Returns the results of tools as evidence, latest first. A result that the model could choose is marked; one that repeats a sentence of an earlier call, and the answer of another model, are none. */
export function collectSessionEvidence(
  events: readonly Event[],
  { isOlder }: SessionEvidenceOptions = {},
): readonly Evidence[] {
  const evidence: Evidence[] = [];
  const calls = new Map<string, Call>();
  const written: Written = { text: '', files: new Set(), isOpen: false };
  if (events[0]) written.start = new Date(events[0].time);
  for (const event of events) {
    if (event.type === 'epoch-started' && calls.size === 0 && (event.baseline?.messages.length ?? 0) > 0) {
      written.isOpen = true;
      delete written.start;
    }
    if (event.type === 'turn-ended')
      for (const { id, tool, input } of messageToolCalls(event.message)) {
        written.text += `\n${normalize(collectTexts(input).join('\n'))}`;
        calls.set(id, unwrap({ tool, input }));
        noteWrites(calls.get(id), written);
      }
    if (event.type === 'tool-started') {
      const known = calls.get(event.call);
      calls.set(event.call, unwrap({ tool: event.tool, input: event.input ?? known?.input ?? null }));
      if (known?.tool !== calls.get(event.call)?.tool) noteWrites(calls.get(event.call), written);
    }
    if (event.type !== 'tool-ended') continue;
    const call = calls.get(event.call);
    if (call && fileWriters.has(call.tool)) for (const file of filesOf(event.data)) written.files.add(file);
    if (event.outcome !== 'ok' || event.text.trim() === '' || event.text.length > maxResultLength) continue;
    if ((call && modelTools.has(call.tool)) || repeatsSentence(event.text, written.text)) continue;
    const isChosen = !call || !isFromOthers(call, event, written, isOlder);
    evidence.push({ source: { type: 'event', seq: event.seq }, text: event.text, ...(isChosen ? { isChosen } : {}) });
  }
  return evidence.toReversed().slice(0, maxResults);
}

const unwrap = (call: Call): Call => {
  const unwrapped = unwrapDeferredCall(call);
  return typeof unwrapped === 'string' ? call : { tool: unwrapped.tool, input: unwrapped.input };
};

/** Notes what a call may write. */
function noteWrites(call: Call | undefined, written: Written): void {
  if (!call) return;
  const { tool, input } = call;
  if (fileReaders.has(tool) || webReaders.has(tool) || otherTools.has(tool)) return;
  const { path: file, command } = isObject(input) ? input : {};
  if (fileWriters.has(tool) && (tool === 'apply_patch' || typeof file === 'string')) {
    if (typeof file === 'string') written.files.add(path.basename(file));
  } else if (!commandTools.has(tool) || typeof command !== 'string' || !isPrinting(command)) written.isOpen = true;
}

const isPrinting = (command: string): boolean =>
  command.length < 2000 && printingCommand.test(command.trim()) && !writingOption.test(command);

/** The names of the files that a result says were changed. */
function filesOf(data: Json | undefined): readonly string[] {
  if (!isObject(data)) return [];
  return (Array.isArray(data['changes']) ? data['changes'] : [data]).flatMap((each) =>
    isObject(each) && typeof each['path'] === 'string' ? [path.basename(each['path'])] : [],
  );
}

/** Whether a result is text that neither the model nor the session wrote. */
function isFromOthers(
  { tool, input }: Call,
  { text, data }: Event & { readonly type: 'tool-ended' },
  written: Written,
  isOlder: SessionEvidenceOptions['isOlder'],
): boolean {
  const fields = isObject(input) ? input : {};
  if (tool === 'web_search') return !repeatsQuery(text, fields['query']);
  if (webReaders.has(tool)) {
    const address = fields['url'] ?? fields['uri'];
    return typeof address === 'string' && !carriesText(address) && !(written.isOpen && isOwnHost(address));
  }
  if (!fileReaders.has(tool)) return false;
  const { path: file = fields['path'], hash } = isObject(data) ? data : {};
  const isOneFile = tool === 'read_file' && typeof file === 'string';
  const isWritten = isOneFile
    ? written.files.has(path.basename(file))
    : [...written.files].some((name) => text.includes(name));
  if (isWritten || !written.isOpen) return !isWritten;
  return (
    isOneFile &&
    typeof hash === 'string' &&
    written.start !== undefined &&
    isOlder?.(file, hash, written.start) === true
  );
}

const normalize = (text: string): string => text.replaceAll(/\s+/g, ' ').toLowerCase();

function collectTexts(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(collectTexts);
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(collectTexts) : [];
}

/** Whether a search repeats what it was asked for, if that is long enough for a statement. */
const repeatsQuery = (text: string, query: Json | undefined): boolean =>
  typeof query !== 'string' ||
  (query.trim().split(/\s+/).length >= minSentenceWords && normalize(text).includes(normalize(query).trim()));

const repeatsSentence = (text: string, written: string): boolean =>
  written !== '' &&
  splitAnswer(text).claims.some(
    (claim) => claim.text.split(/\s+/).length >= minSentenceWords && written.includes(normalize(claim.text)),
  );
