// Attaches files to a prompt: `@path` in the text adds the contents of the file, and an image file becomes an image part.
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { UserInput } from '../agent/index.ts';
import type { Conversation } from './conversation.ts';
import { getSealedFiles } from './protected-paths.ts';
import { wrapUntrusted, type FilePart, type MessagePart } from '../core/index.ts';

/** Max characters of one attached text file; the rest is left out, and the text says so. */
export const maxAttachedChars = 100_000;
/** Max bytes of an attached image. */
export const maxImageBytes = 5_000_000;
const maxAttachments = 20;
const maxListedNames = 200;

/** What the attachments of a prompt depend on. */
export type AttachmentContext = {
  /** The directory that relative paths start at. */
  readonly cwd: string;
  /** The model as messages name it. */
  readonly model: string;
  /** Whether the model accepts images; undefined if that is not known. */
  readonly supportsImages: boolean | undefined;
  /** Removes secrets from attached text. */
  readonly redact: (text: string) => string;
  /** Files that are never sent. */
  readonly sealedFiles: readonly string[];
};

/** A prompt with its attachments, and a sentence for each file that was named and not attached. */
export type AttachedPrompt = { readonly input: UserInput; readonly notices: readonly string[] };

/** Attaches the files that a prompt names: `@path`, `@"a path"`, and the absolute path of an image, as a terminal pastes it. Only `source`, the text that the user wrote, is searched for paths. */
export function attachFiles(prompt: string, context: AttachmentContext, source: string = prompt): AttachedPrompt {
  const parts: MessagePart[] = [];
  const notices: string[] = [];
  const seen = new Set<string>();
  for (const { file, isMention } of findPaths(source, context.cwd)) {
    if (seen.has(file)) continue;
    seen.add(file);
    if (seen.size > maxAttachments) {
      notices.push(`Only ${maxAttachments} files are attached to one prompt.`);
      break;
    }
    const attached = attachFile(file, isMention, context);
    if (typeof attached === 'string') notices.push(attached);
    else if (attached) parts.push(attached);
  }
  for (const name of findMissingFiles(source, context.cwd))
    notices.push(`There is no file ${name}, so nothing is attached for it.`);
  return { input: parts.length === 0 ? prompt : [{ type: 'text', text: prompt }, ...parts], notices };
}

/** Attaches the files that a prompt of a conversation names; see `attachFiles`. */
export function attachToPrompt(
  { agent, model, session, settings }: Pick<Conversation, 'agent' | 'model' | 'session' | 'settings'>,
  prompt: string,
  source?: string,
): AttachedPrompt {
  const context: AttachmentContext = {
    cwd: agent.workspace.cwd,
    model: model.name,
    supportsImages: session.agent.provider.supportsImages,
    redact: (text) => agent.redactor.redact(text),
    sealedFiles: getSealedFiles(settings),
  };
  return attachFiles(prompt, context, source);
}

type NamedPath = { readonly file: string; readonly isMention: boolean };

const mentionPattern = /(?<=^|\s)@(?:"([^"\n]+)"|(\S+))/g;
// A terminal pastes the path of a dropped file with quotes or with escaped spaces, or as a URL.
const droppedPattern =
  /(?<=^|\s)(?:'((?:\/|~\/)[^'\n]+)'|"((?:\/|~\/)[^"\n]+)"|((?:file:\/\/|\/|~\/)(?:\\.|[^\s\\])+))/g;

function findPaths(text: string, cwd: string): readonly NamedPath[] {
  const found: (NamedPath & { readonly at: number })[] = [];
  for (const { 1: quoted, 2: bare = '', index } of text.matchAll(mentionPattern)) {
    const file = quoted === undefined ? findBarePath(bare, cwd) : existingPath(quoted, cwd);
    if (file !== undefined) found.push({ file, isMention: true, at: index });
  }
  for (const { 1: single, 2: double, 3: bare, index } of text.matchAll(droppedPattern)) {
    const named = single ?? double ?? bare?.replaceAll(/\\(.)/g, '$1') ?? '';
    const file = /\.(png|jpe?g|gif|webp)$/i.test(named) ? existingPath(fromUrl(named), cwd) : undefined;
    if (file !== undefined) found.push({ file, isMention: false, at: index });
  }
  return found.toSorted((a, b) => a.at - b.at);
}

/** The mentions that look like a file that does not exist: in quotes, or with an extension or a path. Other words with @ may be names. */
const findMissingFiles = (text: string, cwd: string): readonly string[] =>
  Array.from(text.matchAll(mentionPattern), ([, quoted, bare = '']) => quoted ?? bare.replace(/[.,;:!?)\]}'"]+$/, ''))
    .filter((name) => / |^(~|\.\.?)?\/|[^.@]\.[a-z]\w{0,4}$/i.test(name) && !existingPath(name, cwd))
    .slice(0, maxAttachments);

/** A mention at the end of a sentence: the punctuation after it is not a part of the path, unless such a file exists. */
function findBarePath(text: string, cwd: string): string | undefined {
  for (let named = text; named !== ''; named = named.slice(0, -1)) {
    const file = existingPath(named, cwd);
    if (file !== undefined) return file;
    if (!/[.,;:!?)\]}'"]$/.test(named)) return undefined;
  }
  return undefined;
}

function fromUrl(named: string): string {
  if (!named.startsWith('file://')) return named;
  try {
    return fileURLToPath(named);
  } catch {
    return named;
  }
}

function existingPath(named: string, cwd: string): string | undefined {
  if (named.includes('\0')) return undefined;
  const file = path.resolve(
    cwd,
    named.replace(/^~(?=\/|$)/, () => homedir()),
  );
  try {
    const stats = statSync(file);
    return stats.isFile() || stats.isDirectory() ? file : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the part for a file, or a sentence why it is not attached. */
function attachFile(file: string, isMention: boolean, context: AttachmentContext): MessagePart | string | undefined {
  const { cwd, model, supportsImages, redact, sealedFiles } = context;
  const relative = path.relative(cwd, file);
  const name = relative === '' ? '.' : relative.startsWith('..') ? file : relative;
  try {
    if (sealedFiles.includes(realpathSync(file)))
      return `${name} holds logins or keys of Fairlead and is not attached.`;
    if (statSync(file).isDirectory()) return { type: 'text', text: wrapUntrusted(`${name}/`, listNames(file)) };
    const { size } = statSync(file);
    const mediaType = imageType(readStart(file));
    if (mediaType !== undefined) {
      if (supportsImages === false) return `${model} does not accept images: ${name} is not attached.`;
      if (size > maxImageBytes) return `${name} is larger than ${maxImageBytes / 1e6} MB and is not attached.`;
      return { type: 'file', mediaType, data: readFileSync(file).toString('base64'), name } satisfies FilePart;
    }
    if (!isMention) return undefined;
    if (size > maxAttachedChars * 40) return `${name} is too large to attach: ask the model to read a part of it.`;
    const bytes = readFileSync(file);
    if (bytes.subarray(0, 8000).includes(0)) return `${name} is neither text nor an image and is not attached.`;
    const text = redact(bytes.toString('utf8'));
    const rest = text.length - maxAttachedChars;
    const shown = rest > 0 ? `${text.slice(0, maxAttachedChars)}\n[${rest} more characters are not shown]` : text;
    return { type: 'text', text: wrapUntrusted(name, shown) };
  } catch (error) {
    return `${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Reads the first bytes, which say whether a file is an image; the file may be large. */
function readStart(file: string): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(16);
    return bytes.subarray(0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}

function listNames(directory: string): string {
  const names = readdirSync(directory)
    .toSorted()
    .map((name) => (lstatSync(path.join(directory, name)).isDirectory() ? `${name}/` : name));
  const rest = names.length - maxListedNames;
  return [...names.slice(0, maxListedNames), ...(rest > 0 ? [`[${rest} more names are not shown]`] : [])].join('\n');
}

/** Returns the media type of an image by its first bytes; undefined for any other file. */
export function imageType(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(text)) return 'image/gif';
  return text.startsWith('RIFF') && text.slice(8) === 'WEBP' ? 'image/webp' : undefined;
}
