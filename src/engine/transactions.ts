import type { Caller } from './base/caller.ts';
import type { Committed, RolledBack, TransactionBegun } from './contract/transactions.ts';
import type { TransactionWrites } from './engine.ts';
import type { Writer } from './retract.ts';

/** The open transactions: what each has written so far, and who may go on with it. */
export class Transactions {
  constructor(_writer: Writer) {}

  begin(_caller: Caller): TransactionBegun {
    throw new Error('to be written');
  }

  within(_caller: Caller): TransactionWrites {
    throw new Error('to be written');
  }

  abandon(_caller: Caller): void {
    throw new Error('to be written');
  }

  async commit(_caller: Caller, _id: string, _dryRun: boolean): Promise<Committed> {
    throw new Error('to be written');
  }

  rollback(_caller: Caller, _id: string): RolledBack {
    throw new Error('to be written');
  }
}
