import { HandoffError } from '../error.ts';
import { isTaskId } from '../names.ts';

export function assertTask(id: string): void {
  if (isTaskId(id)) return;
  throw new HandoffError('bad_name', `${JSON.stringify(id)} cannot name a task.`, {
    hint: 'Use 1 to 64 of A-Z, a-z, 0-9, ".", "_" and "-", beginning with a letter or digit; no "..", no final ".", no Windows device name.',
    data: { task: id },
  });
}
