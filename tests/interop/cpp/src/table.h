#pragma once

#include <understudy/v1/bot_service.pb.h>

#include <string>

// A decision and its reasons as text, the same in every language of these examples.
std::string Table(const understudy::v1::DecideResponse& reply);
