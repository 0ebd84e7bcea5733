import { entry } from './code-entry.ts';

/** Codes of warnings: the write was carried out. */
export const OF_WARNINGS = {
  unknown_field: entry(
    'The body has a field that the operation does not have. It was ignored.',
    '{"externalid": "PO-1"}',
    'Is not known here. It was ignored.',
    'Correct the name. With Prefer: handling=strict it is refused: have your tests send that.',
  ),
  read_only_field: entry(
    'The body has a field that only answers have. It was ignored.',
    '{"status": "delivered"}',
    'Is set by the service. It was ignored.',
    'Leave it out. Who sends back what it read may ignore the warning.',
  ),
  invalid_container_number: entry(
    'The check digit of a container number is wrong. It was stored as it is.',
    '{"container_numbers": ["MSKU1234567"]}',
    'MSKU1234567 has a wrong check digit.',
    'Compare it with the papers. Under Prefer: handling=strict it is refused.',
  ),
  unknown_port: entry(
    'No place is known by this code. It was stored as it is.',
    '{"origin_port": "CNXXX"}',
    'CNXXX is not a known UN/LOCODE.',
    'Look whether it is mistyped. Of unknown places no time zone is known.',
  ),
  eta_before_etd: entry(
    'The arrival is expected before the departure, of the shipment or a leg.',
    '{"etd": "2026-12-09T…", "eta": "2026-11-02T…"}',
    'The estimated arrival lies before the estimated departure.',
    'Look whether they were mixed up.',
  ),
  possible_duplicate: entry(
    'Another shipment that is on its way has the same house bill or container.',
    '{"house_bill": "HBL123"}',
    'shp_… has this house_bill too.',
    'Look whether it is the same: then use its external_id. Consolidated ones may share a container.',
  ),
  code_unusual_for_mode: entry(
    'The milestone is unusual for the mode of the shipment. It counts all the same.',
    '{"code": "vessel_departed"} by air',
    'vessel_departed is unusual for air.',
    'Look at your mapping, or at the mode of the shipment.',
  ),
  shipment_cancelled: entry(
    'The shipment is cancelled. The write was stored, and changes no status.',
    'A milestone of a cancelled shipment',
    'The shipment is cancelled.',
    'Reopen it, if it is moving after all.',
  ),
  overridden_by_user: entry(
    'A person corrected or retracted the milestone, and their word stands against what the feed sent again.',
    'A milestone of a feed that was corrected',
    'Corrected by a user: occurred_at stays.',
    'Nothing. A value that is new for the feed counts again.',
  ),
} as const;
