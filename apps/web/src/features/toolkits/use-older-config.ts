import { useState } from 'react'
import { findOlderConfig, leaveOlderConfig, removeOlderConfig } from './older-config.ts'

/** Where a browser keeps nothing for pages, nothing was left. */
function kept(): Storage | undefined {
  try {
    return window.localStorage
  } catch {
    return undefined
  }
}

export function useOlderConfig() {
  const [offered, setOffered] = useState(() => {
    const storage = kept()
    return storage && findOlderConfig(storage)
  })
  const end = (how: (storage: Storage) => void) => () => {
    const storage = kept()
    if (storage) how(storage)
    setOffered(undefined)
  }
  return { offered, leave: end(leaveOlderConfig), remove: end(removeOlderConfig) }
}
