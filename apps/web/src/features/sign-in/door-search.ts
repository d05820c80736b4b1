/** What of this page stands in the address. */
import { pickStrings } from '../shell/search.ts'

export interface DoorSearch {
  next?: string
  token?: string
}

export const readDoor = (search: Record<string, unknown>): DoorSearch => pickStrings(search, ['next', 'token'])
