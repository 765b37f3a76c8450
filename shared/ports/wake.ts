// Someone should look at this session, now or later. A hint: the store says who needs work, the queue only when to look.

import type { SessionId, TenantId } from '../types/ids.ts';

export interface Wake {
  wake(tenant: TenantId, session: SessionId, delayMs: number): Promise<void>;
}
