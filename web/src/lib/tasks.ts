import type { Task } from 'dormouse-client';

export type TaskAction = 'output' | 'resume' | 'cancel' | 'clear';

/** What can be done with a task in its state (D2: only a completed one is resumed). */
export function actionsOf(task: Pick<Task, 'status' | 'queued'>, operates: boolean): TaskAction[] {
  if (!operates) return ['output'];
  if (task.status === 'running' || task.status === 'resumed') return ['output', 'cancel'];
  return task.status === 'completed' ? ['output', 'resume', 'clear'] : ['output', 'clear'];
}

export const actionText: Record<TaskAction, string> = {
  output: 'Output',
  resume: 'Resume…',
  cancel: 'Cancel…',
  clear: 'Clear…',
};
