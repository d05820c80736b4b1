/**
 * Properties and items that the keywords at one location evaluated, for unevaluatedProperties and unevaluatedItems.
 * Only successful schemas count; `incomplete` means that an undecided schema may have evaluated more.
 */
import { STEP, type WorkMeter } from './budget.ts'

export class Evaluated {
  allProperties = false
  allItems = false
  /** Items before this index are evaluated. */
  itemsUpTo = 0
  incomplete = false
  private readonly properties = new Set<string>()
  private readonly items = new Set<number>()

  property(key: string, meter: WorkMeter): void {
    meter.spend(STEP)
    this.properties.add(key)
  }

  item(index: number, meter: WorkMeter): void {
    meter.spend(STEP)
    this.items.add(index)
  }

  hasProperty(key: string): boolean {
    return this.allProperties || this.properties.has(key)
  }

  hasItem(index: number): boolean {
    return this.allItems || index < this.itemsUpTo || this.items.has(index)
  }

  /** Adds the evaluated properties and items of a schema at the same location. */
  add(other: Evaluated, meter: WorkMeter): void {
    meter.spend(STEP * (other.properties.size + other.items.size))
    for (const key of other.properties) this.properties.add(key)
    for (const index of other.items) this.items.add(index)
    this.allProperties ||= other.allProperties
    this.allItems ||= other.allItems
    this.incomplete ||= other.incomplete
    this.itemsUpTo = Math.max(this.itemsUpTo, other.itemsUpTo)
  }
}
