import { Scenario, day } from '../../test/scenario.ts';

describe('the next check', () => {
  it('is due when what has just resolved will be so again', () => {
    const scenario = new Scenario();
    scenario.at(day(1)).upsert({ house_bill: 'HB-1', mode: 'air', etd: day(2) });
    scenario.at(day(5)).post('flight_departed', day(3));
    scenario.at(day(8)).check();
    expect(scenario.open).toEqual(['no_update']);

    scenario.at(day(9)).post('in_transit_checkpoint');
    expect(scenario.open).toEqual([]);
    expect(scenario.state?.nextCheckAt).toBe(day(11));
  });

  it('a write that only remembers under which name a milestone came is a look at the rules too', () => {
    const scenario = new Scenario();
    scenario.at(day(1)).upsert({ house_bill: 'HB-1', mode: 'air', etd: day(2) });
    scenario.at(day(5)).post('flight_departed', day(3), { source: 'carrier' });
    scenario.at(day(8)).post('flight_departed', day(3), { source: 'carrier', external_id: 'EV-1' });
    expect(scenario.open).toEqual(['no_update']);
    expect(scenario.state?.nextCheckAt).toBeNull();
  });
});
