// The only door to the world: files and commands within folders that a person opened. Guards wrap it; no tool goes round it.

/** A file as it was read: where it really is, its bytes, their text where they are UTF-8, and the sha256 of the bytes. */
export type FileContent = {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Absent where the bytes are no text. */
  readonly text?: string;
  readonly hash: string;
};

/** What a write did: the sha256 of the content before and after it, null where there was or is no file. */
export type FileChange = { readonly path: string; readonly before: string | null; readonly after: string | null };

/** Something in a folder. */
export type DirectoryEntry = { readonly name: string; readonly type: 'file' | 'folder' | 'link' | 'other' };

/** What is in a folder, by name; `more` where it holds more than is listed. */
export type DirectoryListing = {
  readonly path: string;
  readonly entries: readonly DirectoryEntry[];
  readonly more: boolean;
};

/** What can be told of a file or a folder without reading it. */
export type FileStamp = {
  /** Another one whenever the content, or the names in a folder, may be other ones. */
  readonly version: string;
  /** When it last changed, in milliseconds since 1970. */
  readonly modifiedMs: number;
};

/** How much a command has written. */
export type OutputSize = {
  /** Bytes, exactly. */
  readonly bytes: number;
  /** Where it can be read as text, if it was to be kept: all of it, or its beginning where it is too much for a file; and the bytes of that file. */
  readonly file?: { readonly path: string; readonly bytes: number; readonly whole: boolean };
};

/** How a command is to run. */
export type ExecOptions = {
  /** A folder inside the roots; the workspace's own unless given. */
  readonly cwd?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** Sees the output as it comes, all of it, and how much there was so far. */
  readonly onOutput?: (text: string, so: OutputSize) => void;
  /** Characters of output that are given back, half of them from the beginning and half from the end. */
  readonly maxChars?: number;
  /** Keeps output that is longer than that in a file which the workspace can read, where it has a place for it. */
  readonly saveOutput?: boolean;
  /** Ends it even where our process is killed outright; one more process looks after that. */
  readonly killWithParent?: boolean;
  /** Milliseconds between asking it to end and ending it, which an abort and its time do; a fifth of a second unless given. */
  readonly graceMs?: number;
  /** The program only holds the command that is meant: what it holds is asked to end, not the program. */
  readonly isWrapper?: boolean;
};

/** How a command ended. */
export type ExecResult = {
  /** Its exit code, or null where a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** What it wrote to standard output and standard error. */
  readonly text: string;
  /** Why we ended it, where we did. */
  readonly stopped?: 'timeout' | 'abort';
  /** Where `text` is not all of it: how much there was. */
  readonly outputSize?: OutputSize;
};

/** What is to be fetched. Nothing is sent beside what stands here. */
export type FetchRequest = {
  readonly url: string;
  /** GET unless given. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Bytes of the answer that are kept. */
  readonly maxBytes?: number;
};

/** What came back, after all redirects. */
export type FetchResult = {
  readonly status: number;
  /** Where it really came from. */
  readonly url: string;
  /** By lower-case name; one that came several times is joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Whether there was more than was kept. */
  readonly truncated: boolean;
};

/** Files and commands inside declared roots. Every method refuses a path that leads out of them, and says why in one sentence; kept output of commands may be read beside them, and nothing else. */
export interface Workspace {
  /** The folder that relative paths start from. */
  readonly cwd: string;
  /** Where a path really leads, links resolved, whether or not there is a file yet. */
  locate(path: string): string;
  /** Reads a file, and remembers it as seen unless told not to. */
  read(path: string, options?: { readonly unseen?: boolean }): Promise<FileContent>;
  /** Writes a whole file. One that is there must have been read, and be unchanged since; `over` is the hash that the new content was made from. */
  write(path: string, content: string | Uint8Array, options?: { readonly over?: string | null }): Promise<FileChange>;
  /** Removes a file whose content can be put back by `restore`; refused where that could not be, or where it changed since it was read. */
  remove?(path: string): Promise<FileChange>;
  /** Puts the content back that was there before a change; refused if the file is no longer as the change left it. */
  restore(change: FileChange): Promise<void>;
  list(path: string): Promise<DirectoryListing>;
  /** Tells at little cost whether what is there is still what it was. */
  stamp?(path: string): Promise<FileStamp>;
  /** Runs a shell command, or a program with its arguments as they are. Whatever it started ends with it. */
  exec(command: string | readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** Asks a server of the outside world, where that is open at all. Refuses every address, also of a redirect, that leads to a private network. */
  fetch?(
    request: FetchRequest,
    options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
  ): Promise<FetchResult>;
}
