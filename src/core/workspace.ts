// The workspace interface: files, commands and network within the roots the user opened. All tools use it; guards wrap it.

/** A file that was read: its real path, its bytes, its text if it is UTF-8, and the sha256 of its bytes. */
export type FileContent = {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Absent if the bytes are not text. */
  readonly text?: string;
  readonly hash: string;
};

/** The result of a write: sha256 of the content before and after; null if there was or is no file. */
export type FileChange = { readonly path: string; readonly before: string | null; readonly after: string | null };

/** A directory entry. */
export type DirectoryEntry = { readonly name: string; readonly type: 'file' | 'folder' | 'link' | 'other' };

/** A directory listing by name; `more` if it is truncated. */
export type DirectoryListing = {
  readonly path: string;
  readonly entries: readonly DirectoryEntry[];
  readonly more: boolean;
};

/** Metadata of a file or directory. */
export type FileStamp = {
  /** Changes whenever the content, or the entries of a directory, may have changed. */
  readonly version: string;
  /** Modification time in milliseconds since 1970. */
  readonly modifiedMs: number;
  /** The size of the file in bytes. */
  readonly size?: number;
};

/** The amount of output of a command. */
export type OutputSize = {
  /** Exact number of bytes. */
  readonly bytes: number;
  /** The file with the kept output, or with its head if it is too large, and the size of that file. */
  readonly file?: { readonly path: string; readonly bytes: number; readonly whole: boolean };
};

/** Options of a command. */
export type ExecOptions = {
  /** A directory inside the roots; default: the working directory of the workspace. */
  readonly cwd?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** Called with all output as it arrives, and with the amount so far. */
  readonly onOutput?: (text: string, size: OutputSize) => void;
  /** Max characters of returned output, half from the head and half from the tail. */
  readonly maxChars?: number;
  /** Keeps longer output in a file that the workspace can read, if it has a directory for such files. */
  readonly saveOutput?: boolean;
  /** Kills the command even if our process is killed with SIGKILL; needs one more process. */
  readonly killWithParent?: boolean;
  /** Milliseconds between SIGTERM and SIGKILL on abort or timeout; default 200. */
  readonly graceMs?: number;
  /** The program is only a wrapper: SIGTERM goes to the processes inside it. */
  readonly isWrapper?: boolean;
  /** Kills the command at once, without SIGTERM. */
  readonly killSignal?: AbortSignal;
  /** True lets the command write the git directory, which a sandbox makes read-only otherwise. */
  readonly writesGit?: boolean;
};

/** The result of a command. */
export type ExecResult = {
  /** The exit code; null if a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Standard output and standard error. */
  readonly text: string;
  /** Why we ended it, if we did. */
  readonly stopped?: 'timeout' | 'abort';
  /** Why the sandbox ended it, in one sentence. */
  readonly stopReason?: string;
  /** The total amount, if `text` is truncated. */
  readonly outputSize?: OutputSize;
};

/** An HTTP request. Nothing else is sent. */
export type FetchRequest = {
  readonly url: string;
  /** Default GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Max bytes of the response body. */
  readonly maxBytes?: number;
};

/** The HTTP response after all redirects. */
export type FetchResult = {
  readonly status: number;
  /** The final URL. */
  readonly url: string;
  /** Headers by lower-case name; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** True if the body was truncated. */
  readonly truncated: boolean;
};

/** How a file is replaced. */
export type ReplaceOptions = {
  /** Returns true if a sandbox has mounted the file with this real path: it is written in place instead of replaced by a new one, and not removed. A crash can leave a part of the content. */
  readonly isMounted?: (location: string) => boolean;
};

/** Which file a path must lead to. */
export type LocatedOptions = {
  /** The real path. A path that leads to another file is refused. */
  readonly at?: string;
};

/** Files and commands inside declared roots. Every method rejects a path outside the roots, except kept output of commands, with one sentence. */
export interface Workspace {
  /** The working directory; relative paths start here. */
  readonly cwd: string;
  /** Resolves a path and its symbolic links; the file need not exist. */
  locate(path: string): string;
  /** Reads a file and remembers it as read unless `unseen` is set. */
  read(path: string, options?: LocatedOptions & { readonly unseen?: boolean }): Promise<FileContent>;
  /** Writes a whole file. An existing file must have been read and be unchanged since; `over` is the hash of the content that the new one is based on, `lastRead` the hash that an earlier process of the session read. */
  write(
    path: string,
    content: string | Uint8Array,
    options?: LocatedOptions & ReplaceOptions & { readonly over?: string | null; readonly lastRead?: string },
  ): Promise<FileChange>;
  /** Removes a file whose content `restore` can bring back; rejects if that is impossible or if the file changed since it was read. */
  remove?(path: string, options?: LocatedOptions & ReplaceOptions): Promise<FileChange>;
  /** Restores the content before a change; rejects if the file changed since. */
  restore(change: FileChange, options?: LocatedOptions & ReplaceOptions): Promise<void>;
  list(path: string): Promise<DirectoryListing>;
  /** Returns metadata for cheap change detection. */
  stamp?(path: string): Promise<FileStamp>;
  /** Runs a shell command, or a program with literal arguments. All processes it started end with it. */
  exec(command: string | readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** True if commands can write the git directory only with `writesGit`. */
  readonly isGitReadOnly?: boolean;
  /** Sends an HTTP request, if the network is enabled. Rejects every address in a private network, also after a redirect. */
  fetch?(
    request: FetchRequest,
    options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
  ): Promise<FetchResult>;
}
