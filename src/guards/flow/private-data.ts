// Decides which results bring private data into a session by the declaration of the tool, its name, and the file that was read.
import path from 'node:path';
import { canonicalJson, isObject, isSecretFile, type Json } from '../../core/index.ts';
import { isPrivateName } from './data-kinds.ts';
import type { FlowEntry, FlowStateOptions } from './flow-state.ts';
import type { FlowCall, ToolDeclaration } from './types.ts';

/** Folders of a home directory with dependencies and caches, which are no data of the user. */
const dependencyFolders =
  /(?:^|\/)(?:\.cargo|\.rustup|\.cache|\.npm|\.nvm|\.pyenv|\.rbenv|\.m2|\.gradle|\.local\/(?:lib|share|bin)|go\/pkg|node_modules|site-packages)(?:\/|$)/;
const homeFolder = /^(?:~|\/home\/[^/]+|\/root|\/Users\/[^/]+|\/var\/(?:mail|spool\/mail))(?:\/|$)/;
/** Mails, contacts, calendars, and the memory of processes. */
const privateFile = /\.(?:eml|emlx|mbox|msg|pst|ost|vcf|ics)$|^\/proc\/[^/]+\/(?:environ|mem)$/i;

/** Whether a file is private by default: keys and settings with secrets, mails, and files of a home directory outside the folders that the user works in. */
export function isPrivatePath(file: string, roots: readonly string[] = []): boolean {
  if (isSecretFile(file) || privateFile.test(file)) return true;
  const [base] = roots;
  if (base === undefined) return false;
  const full = file.startsWith('~') ? file : path.resolve(base, file);
  const isInside = roots.some((root) => full === root || full.startsWith(root.endsWith('/') ? root : `${root}/`));
  return !isInside && homeFolder.test(full) && !dependencyFolders.test(full);
}

/** What was read is named with at most so many characters. */
const maxSubjectChars = 200;

const wordPattern = /[^\s'"`=:,@<>;|&()[\]{}]+/g;
/** A command that prints the variables of its environment. */
const printsEnvironment = /(?:^|[;&|(\n])\s*(?:printenv\b|env\s*(?:$|[;&|>)\n]))/;

/** The private files that a command line names. */
const findPrivateWords = (command: string, roots: readonly string[]): readonly string[] => [
  ...(command.match(wordPattern) ?? []).filter((word) => /[./~]|^id_/.test(word) && isPrivatePath(word, roots)),
  ...(printsEnvironment.test(command) ? ['the environment'] : []),
];

/** The paths and addresses of the input of a call. */
const listSubjects = ({ input }: FlowCall, inputs: ToolDeclaration['inputs'] = {}): readonly string[] =>
  isObject(input)
    ? Object.entries(input).flatMap(([name, value]) =>
        ['path', 'url', 'link'].includes(inputs[name] ?? '') ? listTexts(value) : [],
      )
    : [];

/** What a call reads: the paths and addresses of its input, or else its whole input. */
function describeSubject(call: FlowCall, inputs: ToolDeclaration['inputs']): string {
  const named = listSubjects(call, inputs);
  if (named.length > 0) return named.join(' ');
  return isObject(call.input) && Object.keys(call.input).length === 0 ? '' : canonicalJson(call.input);
}

/** Adds what was read, a file or an address, to the sources of entries. */
export function nameSources(
  entries: readonly FlowEntry[],
  call: FlowCall,
  { inputs }: Partial<ToolDeclaration>,
): readonly FlowEntry[] {
  const of = listSubjects(call, inputs).join(' ').slice(0, maxSubjectChars);
  if (of === '') return entries;
  return entries.map((entry) => (entry.type === 'untrusted' ? { ...entry, source: { ...entry.source, of } } : entry));
}

const listTexts = (value: Json): readonly string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value.flatMap((each) => listTexts(each as Json)) : [];

/** Returns the entry of a result that brings private data into the session; none if it does not. */
export function readPrivateData(
  call: FlowCall,
  text: string,
  declaration: Partial<ToolDeclaration>,
  { roots = [] }: FlowStateOptions,
): readonly FlowEntry[] {
  const { effect = 'external', inputs = {}, output } = declaration;
  if (text.trim() === '' || output === 'user') return [];
  const source = { tool: call.tool, call: call.id };
  const entry = (of: string, why: string): readonly FlowEntry[] => [
    { type: 'private', source: { ...source, ...(of === '' ? {} : { of: of.slice(0, maxSubjectChars) }), why } },
  ];
  const fields = isObject(call.input) ? Object.entries(call.input) : [];
  const files = fields.flatMap(([name, value]) => {
    if (inputs[name] === 'path') return listTexts(value).filter((file) => isPrivatePath(file, roots));
    return inputs[name] === 'command' || call.tool === 'execute_sandboxed_command'
      ? listTexts(value).flatMap((command) => findPrivateWords(command, roots))
      : [];
  });
  const isReading = effect === 'read' || fields.some(([name]) => inputs[name] === 'command');
  if (files.length > 0 && isReading) return entry(files.join(' '), 'a private file');
  if (declaration.private ?? (effect === 'read' && isPrivateName(call.tool)))
    return entry(describeSubject(call, inputs), 'private');
  return [];
}
