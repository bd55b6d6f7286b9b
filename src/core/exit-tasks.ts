// Work that must end before the program does, such as the export of a trace.

/** The tasks; one that throws is ignored. */
const exitTasks = new Set<() => Promise<unknown>>();

/** Adds a task, and returns the function that removes it. */
export function addExitTask(task: () => Promise<unknown>): () => void {
  exitTasks.add(task);
  return () => exitTasks.delete(task);
}

/** Runs all tasks once; for the end of the program. */
export async function runExitTasks(): Promise<void> {
  const tasks = [...exitTasks];
  exitTasks.clear();
  await Promise.allSettled(tasks.map((task) => task()));
}
