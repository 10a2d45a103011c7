#include "engine/simgrid_module.hpp"

#include <simgrid/Exception.hpp>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/NetZone.hpp>

#include <csignal>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>

#include "engine/driven.hpp"
#include "engine/flow.hpp"

namespace c3 { inline namespace engine {
namespace {

// SimGrid's loop costs about 0.15 us a step whatever happens in it. While nothing but the fluid system can make
// an event, this many of its events share one step (the mean cost falls to noise; more would gain nothing).
constexpr int kEventsAhead = 64;

/// \returns whether SimGrid has no activity, timer or actor of its own, so that no event of it can come between
/// ours.
bool simgrid_is_idle() {
  const auto& simgrid = *simgrid::s4u::Engine::get_instance();
  const auto is_idle = [](simgrid::kernel::resource::Model* model) {
    return model->get_started_action_set()->empty();
  };
  return simgrid::kernel::timer::Timer::next() < 0.0 && simgrid.get_actor_count() == 0 &&
         std::ranges::all_of(simgrid.get_all_models(), is_idle);
}

/// The fluid system as one of SimGrid's models. With activities, timers or actors of SimGrid's around, both
/// advance in lock step and completions run in on_time_advance, when every model is at the date. Otherwise the
/// fluid system runs ahead of SimGrid's clock, which follows after kEventsAhead events.
class FluidModel final : public simgrid::kernel::resource::Model {
 public:
  FluidModel() : Model("c3sim fluid model") {}

  void attach(Driven* simulation) {
    simulation_ = simulation;
    clock_ = simulation == nullptr ? 0.0 : simulation->now().value;
  }

  double next_occurring_event(double /*now*/) override {
    if (simulation_ == nullptr) return kNothing;
    const int ahead = simgrid_is_idle() ? kEventsAhead : 0;
    double due = simulation_->next_date();
    for (int events = 0; is_now(due) || (events < ahead && !std::isinf(due)); ++events) {
      simulation_->advance_to(due);
      due = simulation_->next_date();
    }
    const bool is_behind = simulation_->now().value > clock_;
    if (ahead > 0 && is_behind && !simgrid_is_idle()) {
      throw std::logic_error(
          "a SimGrid activity was started while SimGrid was idle and its clock behind: "
          "have an actor, timer or activity alive from before, so that the clocks go in step");
    }
    target_ = std::isinf(due) && is_behind ? simulation_->now().value : due;
    return std::isinf(target_) ? kNothing : target_ - clock_;
  }

  void update_actions_state(double /*now*/, double delta) override { step_ = delta; }

  void on_time_advance() {
    if (simulation_ == nullptr) return;
    // The exact date when the step is ours, so that SimGrid's clock adds no rounding of its own.
    clock_ = step_ >= target_ - clock_ ? target_ : clock_ + step_;
    if (clock_ > simulation_->now().value) simulation_->advance_to(clock_);
  }

 private:
  static constexpr double kNothing = -1.0;
  bool is_now(double date) const { return date <= simulation_->now().value; }

  Driven* simulation_ = nullptr;
  double clock_ = 0.0;          ///< the simulation's time where SimGrid's clock stands
  double target_ = kUnbounded;  ///< date of the step asked of SimGrid
  double step_ = 0.0;
};

/// SimGrid's engine takes interrupts for itself when it is made; whoever had them before gets them back.
class KeptSignals {
 public:
  KeptSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      sigaction(kSignals[i], nullptr, &before_[i]);
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;
  ~KeptSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM};
  std::array<struct sigaction, kSignals.size()> before_;
};

struct Loop {
  std::unique_ptr<simgrid::s4u::Engine> engine;
  std::shared_ptr<FluidModel> model;

  Loop() {
    const KeptSignals kept;
    xbt_log_control_set("root.thres:error");
    static std::string name = "c3sim";
    static std::array<char*, 2> arguments = {name.data(), nullptr};
    int count = 1;
    engine = std::make_unique<simgrid::s4u::Engine>(&count, arguments.data());
    using simgrid::s4u::Engine;
    Engine::set_config("network/model:CM02");
    Engine::set_config("network/crosstraffic:0");
    Engine::set_config("network/TCP-gamma:1e30");
    Engine::set_config("surf/precision:1e-12");
    simgrid::s4u::create_star_zone("c3sim");  // root; flat, because zones inside zones cost quadratic time
    model = std::make_shared<FluidModel>();
    engine->add_model(model);
    Engine::on_time_advance_cb([this](double) { model->on_time_advance(); });
  }
};

Loop& loop() {
  static Loop only;
  return only;
}

simgrid::s4u::Engine& prepare() { return *loop().engine; }

void run(Driven& simulation) {
  Loop& simgrid = loop();
  struct Attached {
    FluidModel& model;
    Attached(FluidModel& m, Driven& s) : model(m) { model.attach(&s); }
    ~Attached() { model.attach(nullptr); }
  } attached(*simgrid.model, simulation);
  simgrid.engine->run();
}

}  // namespace

const SimGridModule* c3_simgrid_module() {
  static constexpr SimGridModule kFunctions{.prepare = prepare, .run = run};
  return &kFunctions;
}

}}  // namespace c3::engine
