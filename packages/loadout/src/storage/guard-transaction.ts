import type { Transaction } from './storage.ts'

/**
 * Fails a transaction after any failed operation, even if the caller caught the error. PostgreSQL would silently turn
 * the commit into a rollback.
 */
export function guardTransaction(tx: Transaction, translate: (thrown: unknown) => unknown = (thrown) => thrown) {
  let first: { error: unknown } | undefined

  const assertWhole = () => {
    if (first) throw first.error
  }
  const guarded = async <T>(operation: () => Promise<T>): Promise<T> => {
    assertWhole()
    try {
      return await operation()
    } catch (thrown) {
      const error = translate(thrown)
      first ??= { error }
      throw error
    }
  }

  const transaction: Transaction = {
    get: (collection, id) => guarded(() => tx.get(collection, id)),
    list: (collection, query) => guarded(() => tx.list(collection, query)),
    insert: (collection, row) => guarded(() => tx.insert(collection, row)),
    insertAll: (collection, rows) => guarded(() => tx.insertAll(collection, rows)),
    update: (collection, id, change) => guarded(() => tx.update(collection, id, change)),
    delete: (collection, id) => guarded(() => tx.delete(collection, id)),
  }
  return { transaction, assertWhole }
}
