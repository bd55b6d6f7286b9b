// Looks at the working folder while commands run: at once when a name changes in a folder that contains mounted files, and every second.
import { watch, type FSWatcher } from 'node:fs';

/** What is done while commands run. */
export type RunningWatchOptions = {
  /** Returns the folders that contain mounted files. */
  readonly folders: () => readonly string[];
  /** Called when an entry of such a folder was created, removed or renamed. */
  readonly onEntry: (folder: string, name: string | undefined) => void;
  /** Called every second. */
  readonly onSecond: () => void;
};

/** The watch of the commands of one sandbox. */
export type RunningWatch = {
  /** Starts it if a command runs for longer than most do, and adds folders. */
  begin(): void;
  /** Ends it, because no command runs. */
  end(): void;
};

/** Most commands end before, and then no watcher is created. */
const quietMs = 50;
const intervalMs = 1000;
const maxFolders = 256;

/** Creates a watch that is not started. */
export function createRunningWatch({ folders, onEntry, onSecond }: RunningWatchOptions): RunningWatch {
  const watchers = new Map<string, FSWatcher>();
  let delay: NodeJS.Timeout | undefined;
  let interval: NodeJS.Timeout | undefined;
  const watchFolders = (): void => {
    for (const folder of folders().slice(0, maxFolders)) {
      if (watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, { persistent: false }, (event, name) => {
          if (event === 'rename') onEntry(folder, name ?? undefined);
        });
        // Without it, the change is found within a second.
        watcher.on('error', () => {});
        watchers.set(folder, watcher);
      } catch {
        // There are too many watchers on this machine, or the folder was removed.
      }
    }
  };
  return {
    begin() {
      if (delay !== undefined) return;
      delay = setTimeout(() => {
        delay = undefined;
        watchFolders();
        // What changed before is found now.
        onEntry('', undefined);
        interval ??= setInterval(onSecond, intervalMs).unref();
      }, quietMs).unref();
    },
    end() {
      clearTimeout(delay);
      clearInterval(interval);
      delay = undefined;
      interval = undefined;
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}
